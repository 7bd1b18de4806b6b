import Mustache from 'mustache';

/** What is wrong with a template, in a sentence; null when nothing is. */
export function templateProblem(template: string): string | null {
  try {
    // A writer of its own, because the library's keeps every template it ever saw.
    return hasPartial(new Mustache.Writer().parse(template)) ? 'partials ({{> ...}}) are not supported' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Tokens are tuples that begin with their type; those of a section hold its content as their fifth part. */
function hasPartial(tokens: unknown): boolean {
  return Array.isArray(tokens) && tokens.some((token: unknown) => Array.isArray(token) && (token[0] === '>' || hasPartial(token[4])));
}
