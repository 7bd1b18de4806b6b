import type { z } from 'zod';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';

/** The part of an answer that a command shows. A server of another version may answer with something else. */
export function readAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const where = read.error.issues.map((issue) => issue.path.join('.') || '(whole)').join(', ');
  throw new CliProblem(`The server's answer is not what this command expects (${where}): are both of the same version?`, {
    exitCode: EXIT.failed,
    code: 'answer.unexpected',
  });
}
