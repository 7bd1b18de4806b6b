import { expect } from 'vitest';
import { classifyFailure, TaskFailure } from '#shared/errors/task-failure.ts';

export interface ObservedFailure {
  readonly code: string;
  readonly class: string;
  readonly message: string;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;
}

/** The failure that a runner rejects with; fails the test when it resolves, or rejects with anything else. */
export async function failureOf(attempt: Promise<unknown>): Promise<ObservedFailure> {
  const error = await attempt.then(
    (answer) => expect.unreachable(`expected a failure, got ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TaskFailure);
  const { code, message, details, retryAfterMs } = error as TaskFailure;
  return { code, class: classifyFailure(code), message, details, retryAfterMs };
}
