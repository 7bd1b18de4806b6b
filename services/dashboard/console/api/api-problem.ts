import type { Problem } from '#shared/client/openapi.gen.ts';

/** An error that the API answered. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly status: number;
  /** Further facts; their shape depends on the code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(problem: { code: string; status: number; detail: string; details?: Record<string, unknown> | undefined }) {
    super(problem.detail);
    this.name = 'ApiProblem';
    this.code = problem.code;
    this.status = problem.status;
    this.details = problem.details ?? {};
  }
}

/** The error that an answer of the API describes. */
export function problemOf(text: string, status: number): ApiProblem {
  const known = readProblem(text);
  return new ApiProblem(known ?? { code: 'answer.unreadable', status, detail: `The server answered with ${status}.` });
}

/** Null for the answer of something else, such as a proxy. */
function readProblem(text: string): Problem | null {
  try {
    const problem = JSON.parse(text) as Partial<Problem> | null;
    return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? (problem as Problem) : null;
  } catch {
    return null;
  }
}

/** The form of a single problem: `missed: expected ...`. */
const MEMBER_PROBLEM = /^(\w+): (.+)$/s;

/** What is wrong with the members of a refused body; empty for another error. */
export function bodyProblems({ code, message, details }: ApiProblem): [member: string, text: string][] {
  if (code !== 'request.invalid') return [];
  const { problems: listed } = details as { problems?: { path: string; message: string }[] };
  if (listed) return listed.map((problem) => [problem.path.replace('body.', ''), problem.message]);
  const [, member, text] = MEMBER_PROBLEM.exec(message) ?? [];
  return member === undefined || text === undefined ? [] : [[member, text]];
}

/** A sentence for a person about anything that was thrown. */
export function problemText(thrown: unknown): string {
  if (thrown instanceof ApiProblem) return thrown.message;
  // Browsers word the failure of `fetch` differently, and none of them helps a person.
  if (thrown instanceof TypeError || (thrown instanceof DOMException && thrown.name === 'TimeoutError'))
    return 'Muster does not answer. The network may be gone, or it is being restarted.';
  return thrown instanceof Error ? thrown.message : String(thrown);
}
