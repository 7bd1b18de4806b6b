import { afterEach } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { closeLedger } from './close-ledger.ts';
import { TestLedger } from './test-ledger.ts';

/** A ledger on a Redis of its own, for all tests of a file. */
export async function useLedger(settings: SettingsInput = {}, shards = 1): Promise<TestLedger> {
  return closeAfterTests(await TestLedger.open(settings, shards));
}

/** The same, emptied after each test, which fails when it left inconsistent data. */
export async function useCheckedLedger(settings: SettingsInput = {}): Promise<TestLedger> {
  const ledger = await useLedger(settings);
  afterEach(() => closeLedger(ledger));
  return ledger;
}
