-- A migration that has shipped is never edited: an opened file must have exactly the schema these statements make.
-- Times are unix milliseconds UTC; columns named *_json hold documents owned by the layers above. That they are JSON
-- is seen to by the statements that write them: SQLite before 3.41 takes json_valid() in a schema for unsafe.

-- One row: the controller's epoch, and a cell for the readiness probe to write.
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    probes INTEGER NOT NULL
) STRICT;
INSERT INTO meta (id, epoch, probes) VALUES (1, 0, 0);

-- `seq` is the order of creation.
CREATE TABLE sweeps (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    spec_json TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('pending', 'running', 'paused', 'stopping', 'succeeded', 'failed', 'cancelled')),
    state_reason TEXT NOT NULL,
    topic TEXT NOT NULL,
    fingerprint_json TEXT NOT NULL,
    rest_json TEXT NOT NULL,
    started_at_ms INTEGER,
    finished_at_ms INTEGER
) STRICT;
CREATE INDEX sweeps_by_state ON sweeps (state);

CREATE TABLE points (
    sweep_id TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    point INTEGER NOT NULL CHECK (point >= 0),
    message_bytes INTEGER NOT NULL CHECK (message_bytes >= 0),
    factors_json TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'done', 'failed')),
    state_reason TEXT NOT NULL,
    rate_each REAL,
    lower_producers INTEGER,
    upper_producers INTEGER,
    lower_msgs_per_s REAL,
    upper_msgs_per_s REAL,
    measured_msgs_per_s REAL,
    measured_mb_per_s REAL,
    wire_mb_per_s REAL,
    broker_in_mb_per_s REAL,
    mb_per_s_per_broker REAL,
    p50_ms REAL,
    p99_ms REAL,
    worst_idle REAL,
    isr_churn REAL,
    limited_by TEXT NOT NULL,
    evidence TEXT NOT NULL,
    flags TEXT NOT NULL,
    trials INTEGER NOT NULL CHECK (trials >= 0),
    started_at_ms INTEGER,
    finished_at_ms INTEGER,
    PRIMARY KEY (sweep_id, point)
) STRICT;

CREATE TABLE trials (
    sweep_id TEXT NOT NULL,
    trial INTEGER NOT NULL CHECK (trial >= 1),
    point INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'void')),
    producers INTEGER NOT NULL CHECK (producers >= 0),
    rate_each REAL NOT NULL,
    message_bytes INTEGER NOT NULL CHECK (message_bytes >= 0),
    chosen_because TEXT NOT NULL,
    verdict TEXT NOT NULL
        CHECK (verdict IN ('', 'sustained', 'overloaded', 'generator_limited', 'invalid')),
    published_verdict TEXT NOT NULL
        CHECK (published_verdict IN ('', 'sustained', 'overloaded', 'generator_limited', 'invalid')),
    limited_by TEXT NOT NULL,
    verdict_json TEXT NOT NULL,
    offered_msgs_per_s REAL,
    acked_msgs_per_s REAL,
    worst_idle REAL,
    isr_churn REAL,
    p50_ms REAL,
    p99_ms REAL,
    broker_in_mb_per_s REAL,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    PRIMARY KEY (sweep_id, trial),
    FOREIGN KEY (sweep_id, point) REFERENCES points (sweep_id, point) ON DELETE CASCADE
) STRICT;
CREATE INDEX trials_by_point ON trials (sweep_id, point);

-- Rows keep the order in which they were handed over.
CREATE TABLE samples (
    seq INTEGER PRIMARY KEY,
    sweep_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    broker_id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    at_s REAL NOT NULL,
    scrape_ms REAL NOT NULL,
    in_window INTEGER NOT NULL CHECK (in_window IN (0, 1)),
    error TEXT NOT NULL,
    signals_json TEXT NOT NULL,
    FOREIGN KEY (sweep_id, trial) REFERENCES trials (sweep_id, trial) ON DELETE CASCADE
) STRICT;
CREATE INDEX samples_by_trial ON samples (sweep_id, trial);

CREATE TABLE agent_reports (
    seq INTEGER PRIMARY KEY,
    sweep_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    agent TEXT NOT NULL,
    report_json TEXT NOT NULL,
    UNIQUE (sweep_id, trial, agent),
    FOREIGN KEY (sweep_id, trial) REFERENCES trials (sweep_id, trial) ON DELETE CASCADE
) STRICT;

-- A number is never used twice, also not after a sweep was deleted.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    sweep_id TEXT NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body_json TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_sweep ON events (sweep_id, seq);

-- What `curve.csv` is written from, column for column: the points that have ended, sweeps in the order of their
-- creation. A failed point shows no ends, and `failed` among its flags.
CREATE VIEW curve AS
SELECT
    p.sweep_id AS sweep_id,
    s.cluster AS cluster,
    p.message_bytes AS message_bytes,
    CASE p.state WHEN 'done' THEN p.lower_producers END AS lower_producers,
    CASE p.state WHEN 'done' THEN p.upper_producers END AS upper_producers,
    CASE p.state WHEN 'done' THEN p.lower_msgs_per_s END AS lower_msgs_per_s,
    CASE p.state WHEN 'done' THEN p.upper_msgs_per_s END AS upper_msgs_per_s,
    p.measured_msgs_per_s AS measured_msgs_per_s,
    p.measured_mb_per_s AS measured_mb_per_s,
    p.wire_mb_per_s AS wire_mb_per_s,
    p.broker_in_mb_per_s AS broker_in_mb_per_s,
    p.mb_per_s_per_broker AS mb_per_s_per_broker,
    p.p50_ms AS p50_ms,
    p.p99_ms AS p99_ms,
    p.worst_idle AS worst_idle,
    p.isr_churn AS isr_churn,
    p.limited_by AS limited_by,
    p.evidence AS evidence,
    CASE
        WHEN p.state = 'failed' AND instr(' ' || p.flags || ' ', ' failed ') = 0 THEN trim(p.flags || ' failed')
        ELSE p.flags
    END AS flags,
    p.trials AS trials,
    strftime('%Y-%m-%dT%H:%M:%S', p.started_at_ms / 1000, 'unixepoch')
        || printf('.%03dZ', p.started_at_ms % 1000) AS started_at,
    strftime('%Y-%m-%dT%H:%M:%S', p.finished_at_ms / 1000, 'unixepoch')
        || printf('.%03dZ', p.finished_at_ms % 1000) AS finished_at
FROM points AS p
JOIN sweeps AS s ON s.id = p.sweep_id
WHERE p.state IN ('done', 'failed')
ORDER BY s.seq, p.point;
