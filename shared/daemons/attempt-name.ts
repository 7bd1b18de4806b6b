/** Names one attempt in messages: a task under a fencing token. */
export interface AttemptName {
  readonly taskId: string;
  readonly token: number;
}

/** The attempt's key among all attempts of one daemon. */
export function attemptKey({ taskId, token }: AttemptName): string {
  return `${taskId}/${token}`;
}
