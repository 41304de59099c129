/** Every bound of the owner's desk, with its unit and its reason. */

/** From the start until what is stored has been read; beyond it the relay has not answered. */
export const OPEN_TIMEOUT_MS = 15_000;
/** One question to the relay while the desk is open. */
export const FETCH_TIMEOUT_MS = 5_000;
/** Publication of a control frame: ephemeral, so the connection itself waits 3 s for an answer after it was sent. */
export const PUBLISH_TIMEOUT_MS = 10_000;
/** Cards are looked for this far back: 300 s that one may live, and authors' clocks. */
export const CARD_WINDOW_SEC = 900;
/** Stored cards and edits that are asked for at once. */
export const MAX_STORED_CARDS = 500;
/** After a `sent` the card or the answer itself follows at once; when it does not, `sent` is all that is known. */
export const AFTER_SENT_MS = 3_000;
/** Metrics asked for at once, and all that are read; beyond it the sum says that it is not whole. */
export const METRIC_PAGE = 500;
export const MAX_METRICS = 100_000;
/** One question about personas and all the pages it takes, the connection included; beyond it nothing is known. */
export const QUERY_TIMEOUT_MS = 15_000;
/** Publication of what is to stay, the connection included; beyond it there is no verdict. */
export const STORE_TIMEOUT_MS = 15_000;
/** An answer of a remote signer: a person may have to allow it first. */
export const BUNKER_ANSWER_MS = 60_000;
