/** The kinds of NIP-AP, and the two of NIP-01 and NIP-78 that its client writes beside them. */
export const PERSONA_KIND = {
  /** NIP-09. */
  deletion: 5,
  definition: 30_175,
  /** The older public form of a team; read, never written. */
  teamEvent: 30_176,
  instance: 30_177,
  teamCatalog: 30_178,
  version: 44_300,
  /** NIP-78: where the owner's private team records lie, sealed. */
  privateRecord: 30_078,
} as const;

/** What an owner's verbs sign; a remote signer is told when it is connected to. */
export const OWNER_KINDS: readonly number[] = [
  PERSONA_KIND.deletion, PERSONA_KIND.definition, PERSONA_KIND.instance, PERSONA_KIND.teamCatalog, PERSONA_KIND.version, PERSONA_KIND.privateRecord,
];
