/**
 * Why a script could not carry out one of many. The server's own word stays in front, by which callers know that Redis cannot serve now
 * and that the same call may succeed later.
 */
export function scriptFailure(why: string, what: string): Error {
  return new Error(`${why} (${what})`);
}
