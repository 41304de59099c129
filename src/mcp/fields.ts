/**
 * The members of tool arguments as a model sees them. Lengths are told in the schema and not checked by it: JSON Schema
 * and the wire count Unicode scalar values, zod counts UTF-16 units.
 */
import { z } from 'zod';

function text(description: string, maxLength: number): z.ZodString {
  return z.string().describe(description).meta({ minLength: 1, maxLength });
}

export const channelId = text('The UUID of the channel, as in the channel line of your turn.', 45);
export const eventId = (what: string): z.ZodString => text(`The id of ${what}: 64 hex characters.`, 64);
export const pubkey = (what: string): z.ZodString => text(`The public key of ${what}: 64 hex characters, not an npub.`, 64);
export const content = text('The text of the message; Markdown is fine. At most 65,536 bytes of UTF-8.', 65_536);
export const mentions = z
  .array(pubkey('a member'))
  .max(50)
  .optional()
  .describe('Public keys of members to notify. Whoever is not named here is not notified, even if named in the text.');
export const slug = text('"core" for what you are, or a path such as mem/projects/alpha (lowercase, digits, _ and -).', 255);
export const displayName = text('The name to show.', 120);
export const prompt = text('The standing instructions of the agent.', 20_000);
export const scalar = (description: string): z.ZodString => text(description, 300);
export const about = text('A few words on who this is.', 2_000);
export const reaction = text('An emoji, or :shortcode:.', 66);
export const respondTo = z.enum(['owner-only', 'anyone']).describe('Whom the agent answers: its owner alone, or anyone.');
