/**
 * What a request over HTTP must be before anybody acts on it: its head, compared whole, and its body, bounded.
 * in: nothing of ours. out: reading a head, the door that a listener is asked by, reading a body. Knows no path and no
 * protocol; who may ask for what is its listener's.
 */
export { readBody } from './body.ts';
export type { Body } from './body.ts';
export { authorityOf, isJson, isLoopback, openDoor, pathOf, readHead, tokenOf } from './head.ts';
export type { Door, Head } from './head.ts';
