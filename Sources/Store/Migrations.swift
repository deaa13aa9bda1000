// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB

/// How a store comes from any earlier layout to this version's.
///
/// A step that has been released is never changed: stores out there have been through it.
enum Migrations {
    static var all: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("users") { database in
            // Names are compared byte by byte, as they are in a Username.
            try database.execute(
                sql: """
                    CREATE TABLE users (
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        hash TEXT,
                        cost TEXT,
                        enabled INTEGER NOT NULL DEFAULT 1,
                        expiry INTEGER,
                        must_change INTEGER NOT NULL DEFAULT 0,
                        PRIMARY KEY (realm, name)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX users_by_cost ON users (realm, cost);
                    CREATE TABLE user_groups (
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        place INTEGER NOT NULL,
                        "group" TEXT NOT NULL,
                        PRIMARY KEY (realm, name, place),
                        FOREIGN KEY (realm, name) REFERENCES users (realm, name) ON DELETE CASCADE
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE user_changes (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL
                    ) STRICT;
                    """
            )
        }
        return migrator
    }
}
