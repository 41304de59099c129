/** The methods by which a turn under way is given more. */

/** Offered by top-level `_meta.steering.supported` of `initialize`. Some agents answer methods that they do not know with `{}`. */
export const SESSION_STEERING = '_session/steering';
/** Known to whoever tells the id of its run. */
export const GOOSE_STEERING = '_goose/unstable/session/steer';

export function isSteering(method: string): boolean {
  return method === SESSION_STEERING || method === GOOSE_STEERING;
}
