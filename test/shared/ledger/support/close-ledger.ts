import { ledgerProblems } from './ledger-problems.ts';
import type { TestLedger } from './test-ledger.ts';

/** Ends a test: throws when it left the tenant's data inconsistent, and empties Redis. */
export async function closeLedger(test: TestLedger): Promise<void> {
  const problems = await ledgerProblems(test);
  await test.reset();
  if (problems.length > 0) throw new Error(`The test left inconsistent data:\n${problems.join('\n')}`);
}
