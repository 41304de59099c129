/** Team ids (NIP-AP "Team identity"): 1 to 64 scalars, none a control or white space; compared byte for byte. */
import type { Random } from '../model/index.ts';

declare const brand: unique symbol;
/** A team id as it came: never trimmed, folded or normalised. Two are one team only when they are the same text. */
export type TeamId = string & { readonly [brand]: 'TeamId' };

const TEAM_ID = /^[^\p{Cc}\p{White_Space}]{1,64}$/u;

/** `text` as a team id, or undefined. A lone surrogate is no scalar. */
export function asTeamId(text: string): TeamId | undefined {
  return text.isWellFormed() && TEAM_ID.test(text) ? (text as TeamId) : undefined;
}

/** A new UUID, version 4: for a team that is made, imported or adopted. No deleted team has it. */
export function newTeamId(random: Random): TeamId {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-') as TeamId;
}
