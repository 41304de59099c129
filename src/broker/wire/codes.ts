/**
 * The error codes of NIP-BA and the statuses each may stand with ("Result"). `failed` promises that this submission
 * had no effects; `indeterminate` promises nothing. A pair that is not listed here is no verdict.
 */
export const ERROR_CODES = {
  failed: [
    'invalid_request',
    'unsupported_protocol_version',
    'unknown_action',
    'unsupported_action_version',
    'unsupported',
    'unauthenticated',
    'unauthorized',
    'request_id_conflict',
    'action_failed',
    'internal',
  ],
  indeterminate: ['outcome_unknown', 'internal'],
} as const;

export type FailedCode = (typeof ERROR_CODES.failed)[number];
export type IndeterminateCode = (typeof ERROR_CODES.indeterminate)[number];
