/** A process repairs most of what an outage of Redis leaves within seconds; an alert for that would come too late to help. */
const LASTING_MS = 5000;

/** LastingProblems is responsible for when the problems of a process are to be reported: once there have been some for a while. */
export class LastingProblems {
  #sinceMs: number | undefined;

  /** `nowMs`: of a clock that never steps. Returns the problems, or none where an earlier call within that time had none. */
  reported(problems: readonly string[], nowMs: number): readonly string[] {
    this.#sinceMs = problems.length === 0 ? undefined : (this.#sinceMs ?? nowMs);
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= LASTING_MS ? problems : [];
  }
}
