/// The schemas of all JSON that leaves the program, asked through Debian's python3-jsonschema.
package enum JSONSchema {
  /// What is wrong with each line of `lines`, which is JSON, by the schema `name`; empty for a line that is right.
  package static func problems(_ name: String, _ lines: [String]) throws -> [String] {
    let script = """
      import json, pathlib, sys
      from jsonschema import Draft202012Validator, RefResolver
      schemas = {path.name: json.loads(path.read_text()) for path in pathlib.Path(sys.argv[1]).glob("*.schema.json")}
      schema = schemas[sys.argv[2] + ".schema.json"]
      Draft202012Validator.check_schema(schema)
      validator = Draft202012Validator(schema, resolver=RefResolver("", schema, store=schemas))
      for line in sys.stdin:
          print("; ".join(error.message for error in validator.iter_errors(json.loads(line))).replace("\\n", " "))
      """
    let result = try run(
      ["/usr/bin/python3", "-c", script, "\(repository)/schemas", name], input: lines.joined(separator: "\n") + "\n")
    guard result.status == 0 else { throw TestFailure(result.errorText) }
    return result.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  /// The repository's folder.
  package static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }
}
