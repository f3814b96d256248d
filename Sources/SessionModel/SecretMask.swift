/// Hides what looks like a secret in the words of a command, before they are stored.
package enum SecretMask {
  /// What stands for a secret.
  private static let mask = "***"
  /// Parts of names whose values are secrets.
  private static let names = [
    "password", "passwd", "passphrase", "secret", "token", "apikey", "api-key", "api_key", "credential", "auth",
    "bearer", "private-key", "private_key", "access-key", "access_key",
  ]

  /// `words` with the values of secret options (`--token x`, `--token=x`), settings (`API_KEY=x`), headers
  /// (`Authorization: x`) and the passwords of addresses (`https://user:x@host`) replaced.
  package static func apply(_ words: [String]) -> [String] {
    var (result, hidesNext) = ([String](), false)
    for word in words {
      if hidesNext {
        result.append(mask)
        hidesNext = false
      } else if let end = word.firstIndex(where: { $0 == "=" || $0 == ":" }), isSecret(word[..<end]) {
        result.append(word[...end] + mask)
      } else {
        hidesNext = word.hasPrefix("-") && isSecret(word)
        result.append(withoutPassword(word))
      }
    }
    return result
  }

  private static func isSecret(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased()
    return names.contains { !name.ranges(of: $0).isEmpty }
  }

  private static func withoutPassword(_ word: String) -> String {
    guard let scheme = word.ranges(of: "://").first else { return word }
    let rest = word[scheme.upperBound...]
    let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard let at = host.lastIndex(of: "@"), let colon = host[..<at].firstIndex(of: ":") else { return word }
    return word[...colon] + mask + word[at...]
  }
}
