import { bookProblems } from './book-problems.ts';
import type { TestLedger } from './test-ledger.ts';

/** Ends a test: throws when it left the books of the tenant in disorder, and empties Redis. */
export async function closeBooks(test: TestLedger): Promise<void> {
  const problems = await bookProblems(test);
  await test.reset();
  if (problems.length > 0) throw new Error(`The test left the books in disorder:\n${problems.join('\n')}`);
}
