/**
 * The one import from outside this room. `hash` is a function of its input alone, so the room stays pure.
 */
import { hash } from 'node:crypto';

/** SHA-256 of the UTF-8 bytes of `text`, as `sha256:<64 lowercase hex>`. */
export function sha256(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}
