// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import RealmKit

/// The migrations from earlier layouts of the database; a released one is never changed, because stores have run it.
enum Migrations {
    static var all: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("users") { database in
            // Names are compared byte by byte, as in Username.
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
        migrator.registerMigration("throttle") { database in
            // Counts and locks, and the resets that other programs store for a running server (LockoutReset).
            try database.execute(
                sql: """
                    CREATE TABLE throttle_records (
                        kind TEXT NOT NULL CHECK (kind IN ('account', 'source')),
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        owner TEXT,
                        failures INTEGER NOT NULL,
                        newest INTEGER NOT NULL,
                        lock_end INTEGER,
                        expiry INTEGER NOT NULL,
                        PRIMARY KEY (kind, realm, name)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX throttle_records_by_expiry ON throttle_records (expiry);
                    CREATE TABLE throttle_clearances (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        kind TEXT NOT NULL CHECK (kind IN ('account', 'source', 'all')),
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("sessions") { database in
            // Only digests of tokens and salted digests of stamps. session_orders has the commands that other programs
            // store for a running server (SessionCommand).
            try database.execute(
                sql: """
                    CREATE TABLE sessions (
                        id TEXT NOT NULL PRIMARY KEY,
                        token BLOB NOT NULL,
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        address TEXT,
                        agent TEXT NOT NULL,
                        created INTEGER NOT NULL,
                        last_seen INTEGER NOT NULL,
                        idle_end INTEGER NOT NULL,
                        absolute_end INTEGER NOT NULL,
                        stamp_salt BLOB,
                        stamp BLOB
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX sessions_by_user ON sessions (realm, name);
                    CREATE TABLE session_groups (
                        id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                        place INTEGER NOT NULL,
                        "group" TEXT NOT NULL,
                        PRIMARY KEY (id, place)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE session_orders (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        kind TEXT NOT NULL CHECK (kind IN ('one', 'user', 'realm', 'all')),
                        id TEXT NOT NULL,
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        message TEXT
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("session hosts") { database in
            // The earlier sessions end, because the host of their cookies is not known. An older program that still
            // runs writes rows with an empty host, which is not valid, so they are not loaded.
            try database.execute(
                sql: """
                    DELETE FROM session_groups;
                    DELETE FROM sessions;
                    ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
                    """
            )
        }
        migrator.registerMigration("session attributes") { database in
            // One row for each value; the values of an attribute have consecutive places.
            try database.execute(
                sql: """
                    CREATE TABLE session_attributes (
                        id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
                        place INTEGER NOT NULL,
                        name TEXT NOT NULL,
                        value TEXT NOT NULL,
                        PRIMARY KEY (id, place)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("child sessions") { database in
            // A session with a parent was handed over from the sign-in host. It is removed with its parent.
            try database.execute(
                sql: """
                    ALTER TABLE sessions ADD COLUMN parent TEXT REFERENCES sessions (id) ON DELETE CASCADE;
                    CREATE INDEX sessions_by_parent ON sessions (parent);
                    """
            )
        }
        migrator.registerMigration("user attributes") { database in
            // One row for each value; the values of an attribute have consecutive places.
            try database.execute(
                sql: """
                    CREATE TABLE user_attributes (
                        realm TEXT NOT NULL,
                        name TEXT NOT NULL,
                        place INTEGER NOT NULL,
                        attribute TEXT NOT NULL,
                        value TEXT NOT NULL,
                        PRIMARY KEY (realm, name, place),
                        FOREIGN KEY (realm, name) REFERENCES users (realm, name) ON DELETE CASCADE
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("announcement") { database in
            // At most one row: the message of the administrator to all users.
            try database.execute(
                sql: """
                    CREATE TABLE announcement (
                        number INTEGER PRIMARY KEY CHECK (number = 1),
                        text TEXT NOT NULL,
                        expiry INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("names without case") { database in
            // NULL for a name that is case-folded already, as most are: the index has only the others.
            try database.execute(
                sql: """
                    ALTER TABLE users ADD COLUMN folded TEXT;
                    CREATE INDEX users_by_folded ON users (realm, folded) WHERE folded IS NOT NULL;
                    """
            )
            let folding = DatabaseFunction("folded", argumentCount: 1, pure: true) { values in
                String.fromDatabaseValue(values[0]).flatMap { try? Username($0) }.flatMap(GatehouseStore.folded)
            }
            database.add(function: folding)
            defer { database.remove(function: folding) }
            try database.execute(sql: "UPDATE users SET folded = folded(name)")
        }
        return migrator
    }
}
