/**
 * The digest D of NIP-BA "Execution and retries": SHA-256 over the body exactly as it was received. Never over a
 * parsed or normalised form: an equal request in other bytes is not a retry.
 */
import { hash } from 'node:crypto';

/** 64 lowercase hex characters. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
