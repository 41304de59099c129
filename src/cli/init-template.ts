/** The commented config that `skep init` writes. It loads as it stands; a test sees to that. */
export interface TemplateValues {
  /** An npub. */
  readonly owner: string;
  readonly channelId: string;
}

export function configTemplate({ owner, channelId }: TemplateValues): string {
  return `# skep.yaml: one supervisor, its relay and its agents. Paths are relative to this file.
# Every member is described in docs/configuration.md.

# The relay in the box, or the URL of one of your own: wss://relay.example
relay: embedded

# Only with relay: embedded.
embedded:
  port: 7447
  channels:
    - id: ${channelId}
      name: general

# Inbox, journal and the status socket. One supervisor at a time.
data: .skep

# debug, info, warn, error or silent; skep up --log-level overrules it.
log: info

# How long turns in flight may go on after the first Ctrl-C.
grace: 30s

agents:
  - name: helper
    # A file with the agent's secret key (nsec or hex), mode 0600. The agent program never sees it.
    key: keys/helper.key
    # The person it belongs to (npub or hex). This one is keys/owner.key.
    owner: ${owner}

    # goose, claude, codex, gemini, opencode, buzz-agent or pi; scripted needs no model. Or a program of your own:
    #   adapter: { command: ./my-agent, args: [--acp] }
    adapter: scripted
    # args: [script.yaml]
    # cwd: .
    # env: { LANG: C.UTF-8 }

    # Who wakes it: owner-only, allowlist (then list the keys under allowlist:), anyone or nobody.
    respond-to: owner-only
    # With what: mentions of it, or all messages.
    subscribe: mentions
    # channels: [${channelId}]   # all it is a member of, unless listed

    # How many programs run side by side, and whether a channel or a thread is one conversation.
    processes: 1
    session: channel
    # Messages that follow each other within this time become one turn.
    gather: 200ms
    # A turn ends after this long without progress, and after this long in any case.
    idle-timeout: 15m
    hard-timeout: 2h
    # What a tool call that asks for permission hears: reject or allow, both at once; or ask: the owner decides on a card
    # in the channel, and after five minutes of silence it is a no (docs/permission.md). Where nobody watches, write reject.
    permission: ask
    # instructions: |
    #   You help with the garden.
`;
}
