import SessionModel
import Testing

@Suite struct SecretMaskTests {
  @Test(arguments: [
    (["curl", "-H", "Authorization: Bearer x"], ["curl", "-H", "Authorization:***"]),
    (["--api-key", "x", "y"], ["--api-key", "***", "y"]), (["--API_KEY=x=y"], ["--API_KEY=***"]),
    (["DB_PASSWORD=x", "run"], ["DB_PASSWORD=***", "run"]), (["--secret"], ["--secret"]),
    (["postgres://u:p@h:5432/d"], ["postgres://u:***@h:5432/d"]), (["http://h:80/a@b:c"], ["http://h:80/a@b:c"]),
    (["make", "test", "a=b", "C:\\x"], ["make", "test", "a=b", "C:\\x"]), ([""], [""]),
  ])
  func secretsAreReplaced(words: [String], expected: [String]) { #expect(SecretMask.apply(words) == expected) }
}
