-- The schema, in SQL that SQLite and PostgreSQL both read. Instants are Unix milliseconds. Money is the decimal text of
-- a whole number of the currency's smallest units, and is never calculated with in SQL. Texts named doc are JSON.

CREATE TABLE orgs (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    login TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX users_of_org ON users (org, login);

-- What people sign in with: of kind password one, without a name, whose data is the hash. Passkeys will be of a kind of
-- their own, one for each device, with their public keys.
CREATE TABLE credentials (
    user_id TEXT NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (user_id, kind, name)
);

CREATE TABLE setup_links (
    token_hash BLOB NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL,
    spent_at BIGINT
);

CREATE TABLE sessions (
    token_hash BLOB NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    csrf TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    hash BLOB NOT NULL UNIQUE,
    role TEXT NOT NULL,
    agent TEXT,
    domain TEXT,
    prefix TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
CREATE INDEX keys_of_org ON keys (org, created_at, id);

CREATE TABLE signing_keys (
    kid TEXT NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    seed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
);

CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    created_at BIGINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX agents_of_org ON agents (org, created_at, id);

CREATE TABLE consents (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    agent TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    doc TEXT NOT NULL
);
CREATE INDEX consents_of_org ON consents (org, created_at, id);
CREATE INDEX consents_of_agent ON consents (org, agent, created_at, id);

-- One row for each signed version.
CREATE TABLE policies (
    org TEXT NOT NULL REFERENCES orgs (id),
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    text TEXT NOT NULL,
    hash BLOB NOT NULL,
    signature BLOB NOT NULL,
    kid TEXT NOT NULL,
    signed_at BIGINT NOT NULL,
    -- The ids of the agents it names, with a blank between them; null if it is for all.
    agents TEXT,
    PRIMARY KEY (id, version)
);

-- One row for each policy: its latest version.
CREATE TABLE policy_heads (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    version BIGINT NOT NULL,
    signed_at BIGINT NOT NULL,
    is_for_all BIGINT NOT NULL,
    retired_at BIGINT,
    FOREIGN KEY (id, version) REFERENCES policies (id, version)
);
CREATE INDEX policy_heads_of_org ON policy_heads (org, is_for_all, signed_at, id);

-- The agents that a policy's latest version names.
CREATE TABLE policy_agents (
    org TEXT NOT NULL,
    agent TEXT NOT NULL,
    policy TEXT NOT NULL REFERENCES policy_heads (id),
    PRIMARY KEY (org, agent, policy)
);
CREATE INDEX policy_agents_of_policy ON policy_agents (policy);

CREATE TABLE requests (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    agent TEXT NOT NULL,
    key_id TEXT NOT NULL,
    record_id TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    fact_key TEXT NOT NULL,
    attempt_key TEXT NOT NULL,
    doc TEXT NOT NULL,
    secrets BLOB
);
CREATE INDEX requests_of_org ON requests (org, created_at, id);
CREATE INDEX requests_of_agent ON requests (org, agent, created_at, id);
-- A request is looked for as a duplicate or as an attempt, hardly ever as both: most are in one of these alone.
CREATE INDEX requests_of_facts ON requests (agent, fact_key, created_at, id) WHERE outcome <> 'failed';
CREATE INDEX requests_of_attempts ON requests (agent, attempt_key, created_at, id) WHERE outcome <> 'live';

CREATE TABLE approvals (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    request TEXT NOT NULL REFERENCES requests (id),
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX approvals_by_state ON approvals (org, state, created_at, id);

CREATE TABLE mandates (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    agent TEXT NOT NULL,
    request TEXT NOT NULL REFERENCES requests (id),
    state TEXT NOT NULL,
    payee TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    order_id TEXT
);
CREATE INDEX mandates_of_org ON mandates (org, issued_at, id);
CREATE INDEX mandates_of_agent ON mandates (org, agent, issued_at, id);
CREATE INDEX mandates_by_state ON mandates (org, state, issued_at, id);
CREATE UNIQUE INDEX mandates_by_order ON mandates (org, payee, order_id) WHERE order_id IS NOT NULL;

CREATE TABLE idempotency (
    org TEXT NOT NULL REFERENCES orgs (id),
    agent TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    request TEXT NOT NULL REFERENCES requests (id),
    answer BLOB NOT NULL,
    PRIMARY KEY (org, agent, idempotency_key)
);

-- What was counted in budgets. The currency is its code, a colon, and its number of decimals.
CREATE TABLE spend (
    request TEXT NOT NULL PRIMARY KEY REFERENCES requests (id),
    org TEXT NOT NULL REFERENCES orgs (id),
    policy TEXT NOT NULL,
    currency TEXT NOT NULL,
    at BIGINT NOT NULL,
    units TEXT NOT NULL,
    is_refilled BIGINT NOT NULL
);
CREATE INDEX spend_by_time ON spend (org, policy, currency, at);

-- A cache, which may be emptied at any time: the sum of what counts from start_at on and before end_at. The span is
-- start and end for a calendar window; a rolling one has a row that moves.
CREATE TABLE budget_totals (
    org TEXT NOT NULL,
    policy TEXT NOT NULL,
    currency TEXT NOT NULL,
    span TEXT NOT NULL,
    start_at BIGINT NOT NULL,
    end_at BIGINT NOT NULL,
    units TEXT NOT NULL,
    PRIMARY KEY (org, policy, currency, span)
);
CREATE INDEX budget_totals_by_end ON budget_totals (org, policy, currency, end_at);

CREATE TABLE payees (
    org TEXT NOT NULL REFERENCES orgs (id),
    payee_key TEXT NOT NULL,
    payments BIGINT NOT NULL,
    PRIMARY KEY (org, payee_key)
);

-- The end of each organization's chain, and the right edge of its log: the hashes of 32 bytes, one behind the other.
CREATE TABLE chains (
    org TEXT NOT NULL PRIMARY KEY REFERENCES orgs (id),
    size BIGINT NOT NULL,
    last_hash BLOB NOT NULL,
    edge BLOB NOT NULL
);

CREATE TABLE records (
    org TEXT NOT NULL REFERENCES orgs (id),
    seq BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    agent TEXT,
    request TEXT,
    text TEXT NOT NULL,
    hash BLOB NOT NULL,
    signature BLOB NOT NULL,
    kid TEXT NOT NULL,
    sealed_at BIGINT NOT NULL,
    PRIMARY KEY (org, seq)
);
CREATE INDEX records_of_agent ON records (org, agent, seq);
CREATE INDEX records_of_kind ON records (org, kind, seq);

CREATE TABLE record_links (
    org TEXT NOT NULL,
    child_seq BIGINT NOT NULL,
    place BIGINT NOT NULL,
    parent TEXT NOT NULL,
    PRIMARY KEY (org, child_seq, place),
    FOREIGN KEY (org, child_seq) REFERENCES records (org, seq)
);
CREATE INDEX record_links_of_parent ON record_links (org, parent, child_seq);

CREATE TABLE open_records (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL REFERENCES orgs (id),
    request TEXT NOT NULL
);

CREATE TABLE log_nodes (
    org TEXT NOT NULL,
    level BIGINT NOT NULL,
    place BIGINT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (org, level, place)
);

CREATE TABLE jobs (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    org TEXT NOT NULL REFERENCES orgs (id),
    due_at BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
CREATE INDEX jobs_by_time ON jobs (due_at, kind, subject);

CREATE TABLE settings (
    org TEXT NOT NULL PRIMARY KEY REFERENCES orgs (id),
    doc TEXT NOT NULL,
    secret BLOB
);
