/// The index's tables. A migration never changes once it was released: a new one is added after it.
enum Schema {
  /// Each version's statements, from version 1 on; the version is kept in `user_version`.
  static let migrations = [
    """
    CREATE TABLE session (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      began INTEGER NOT NULL,      -- ns since 1970
      utcOffset INTEGER NOT NULL,  -- seconds east of Greenwich
      duration INTEGER NOT NULL,   -- ns
      state TEXT NOT NULL,
      reason TEXT,
      message TEXT,
      source TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      title TEXT,
      tags TEXT NOT NULL           -- a JSON array, in their order
    );
    CREATE TABLE tag (
      session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
      name TEXT NOT NULL,
      PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
    CREATE INDEX tagName ON tag (name, session);
    CREATE TABLE moment (
      number INTEGER PRIMARY KEY,
      session INTEGER NOT NULL REFERENCES session (number) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      weight REAL NOT NULL,
      time INTEGER NOT NULL,       -- ns since the session's epoch
      length INTEGER NOT NULL,     -- ns
      at INTEGER NOT NULL,         -- ns since 1970
      words TEXT NOT NULL,
      window TEXT NOT NULL         -- title and class of the window active then
    );
    CREATE INDEX momentSession ON moment (session, time);
    -- Holds no text of its own: what a row was made of is made again from `moment` when it goes.
    CREATE VIRTUAL TABLE momentText USING fts5 (
      words, window, content = '', tokenize = 'unicode61 remove_diacritics 2'
    );
    """,
    // A JSON array of what was heard of the mix and of each input; null without sound.
    "ALTER TABLE session ADD COLUMN sound TEXT",
    // The words as they are indexed, so that the full-text index can be held against them.
    """
    ALTER TABLE moment ADD COLUMN indexedWords TEXT;   -- where the index has others than `words`
    ALTER TABLE moment ADD COLUMN indexedWindow TEXT;  -- where the index has others than `window`
    CREATE VIEW momentIndexed AS
      SELECT number, session, kind, coalesce(indexedWords, words) AS words, coalesce(indexedWindow, window) AS window
      FROM moment;
    DROP TABLE momentText;
    CREATE VIRTUAL TABLE momentText USING fts5 (
      words, window, content = 'momentIndexed', content_rowid = 'number',
      tokenize = 'unicode61 remove_diacritics 2'
    );
    """,
  ]

  /// Holds the full-text index against the words of the moments: the 1 asks for more than whether it is right in itself
  /// (SQLite, FTS5, "The integrity-check command").
  static let checkText = "INSERT INTO momentText (momentText, rank) VALUES ('integrity-check', 1)"

  /// Makes the full-text index once more, of the same words, in the database that is attached as `fresh`, and two lists of
  /// all that an index holds, in one order. How many words a moment has is left out: `checkText` counts them.
  static let freshText = """
    CREATE VIRTUAL TABLE fresh.again USING fts5 (
      words, window, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
    );
    INSERT INTO fresh.again (rowid, words, window) SELECT number, words, window FROM momentIndexed;
    CREATE VIRTUAL TABLE temp.held USING fts5vocab (main, momentText, instance);
    CREATE VIRTUAL TABLE temp.meant USING fts5vocab (fresh, again, instance);
    """
  static let heldText = "SELECT rowDigest(term, doc, col, offset) FROM held"
  static let meantText = "SELECT rowDigest(term, doc, col, offset) FROM meant"
  static let dropFreshText = "DROP TABLE IF EXISTS temp.held; DROP TABLE IF EXISTS temp.meant"

  /// The version that this program reads and writes.
  static var version: Int { migrations.count }

  /// Marks the file as ours (`application_id`): "rec1" in ASCII.
  static let applicationID = 0x7265_6331

  /// Takes away everything that any version made.
  static let drop = """
    DROP TABLE IF EXISTS momentText; DROP VIEW IF EXISTS momentIndexed; DROP TABLE IF EXISTS moment; DROP TABLE IF EXISTS tag; DROP TABLE IF EXISTS session;
    """
}
