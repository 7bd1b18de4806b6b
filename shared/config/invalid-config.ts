import { MusterError } from '../errors/index.ts';

/** `config.invalid` with a line per problem; `details.problems` has the same apart. */
export function invalidConfig(problems: readonly string[]): MusterError {
  const lines = problems.map((problem) => `  - ${problem}`).join('\n');
  return new MusterError('config.invalid', `The configuration has ${problems.length} problem(s):\n${lines}`, { details: { problems } });
}
