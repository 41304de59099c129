/**
 * The whole environment of an agent process, by allow-list: a child knows what a login gives everybody, what the
 * operator wrote for this agent, and its own session. Everything else the supervisor was started with (keys, tokens,
 * NODE_OPTIONS, the marks of another agent around us) stays here.
 *
 * in: the parent's environment, the operator's extra, the session's own. out: the child's, names in order.
 */

/** Names taken from the parent where it has them. */
const FROM_PARENT: ReadonlySet<string> = new Set([
  // Who runs us, and where programs and files are.
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR',
  // How text and time are written; LC_* beside them.
  'LANG', 'LANGUAGE', 'TZ', 'TERM',
  // Where agents keep their own configuration and login. Not XDG_RUNTIME_DIR: it leads to the session's sockets.
  'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME',
]);
const LOCALE = /^LC_[A-Z]+$/;
/** A Nostr secret key in its bech32 form (NIP-19). */
const SECRET_KEY = /nsec1[02-9ac-hj-np-z]/i;

export interface EnvironmentSources {
  /** `process.env` of the supervisor. */
  readonly parent: Readonly<Record<string, string | undefined>>;
  /** What the operator set for this agent, such as a model provider's key. Wins over the parent. */
  readonly extra?: Readonly<Record<string, string>>;
  /** `ENV_ENDPOINT`, `ENV_CREDENTIAL` and `ENV_PROCESS` of the session. Wins over both. */
  readonly own?: Readonly<Record<string, string>>;
}

/** The child's environment. A value that holds an nsec is left out, whoever wrote it: no agent process has a key. */
export function childEnvironment({ parent, extra = {}, own = {} }: EnvironmentSources): Record<string, string> {
  const passed = Object.entries(parent).filter(([name]) => FROM_PARENT.has(name) || LOCALE.test(name));
  const merged = new Map([...passed, ...Object.entries(extra), ...Object.entries(own)]);
  const names = [...merged.keys()].sort();
  return Object.fromEntries(names.flatMap((name) => {
    const value = merged.get(name);
    return value === undefined || SECRET_KEY.test(value) ? [] : [[name, value] as const];
  }));
}
