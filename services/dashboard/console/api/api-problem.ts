/** An answer of the API that says what went wrong. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly status: number;
  /** What belongs to the code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(problem: { code: string; status: number; detail: string; details?: Record<string, unknown> | undefined }) {
    super(problem.detail);
    this.name = 'ApiProblem';
    this.code = problem.code;
    this.status = problem.status;
    this.details = problem.details ?? {};
  }
}

/** A sentence for a person about whatever was thrown. */
export function problemText(thrown: unknown): string {
  if (thrown instanceof ApiProblem) return thrown.message;
  // What `fetch` throws when nothing answers differs from browser to browser and says nothing to a person.
  if (thrown instanceof TypeError || (thrown instanceof DOMException && thrown.name === 'TimeoutError'))
    return 'Muster does not answer. The network may be gone, or it is being restarted.';
  return thrown instanceof Error ? thrown.message : String(thrown);
}
