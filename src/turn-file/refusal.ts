/** Why a file is refused: on which line, where in its value (`$` is the whole), what belongs there, what stood there. */
export interface FileRefusal {
  readonly ok: false;
  readonly line: number;
  readonly path: string;
  readonly expected: string;
  readonly found?: string;
}
