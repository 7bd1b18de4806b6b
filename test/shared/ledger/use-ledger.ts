import { afterEach } from 'vitest';
import type { SettingsInput } from '#shared/config/settings.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { closeBooks } from './close-books.ts';
import { TestLedger } from './test-ledger.ts';

/** A ledger on a Redis of its own, for all tests of a file. */
export async function useLedger(settings: SettingsInput = {}): Promise<TestLedger> {
  return closeAfterTests(await TestLedger.open(settings));
}

/** The same, emptied after each test, which fails when it left the books in disorder. */
export async function useCheckedLedger(settings: SettingsInput = {}): Promise<TestLedger> {
  const ledger = await useLedger(settings);
  afterEach(() => closeBooks(ledger));
  return ledger;
}
