import { beforeEach } from 'vitest';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { AttemptOutput } from '#shared/execution/attempt/attempt-output.ts';
import { RunningAttempt } from '#shared/execution/attempt/running-attempt.ts';
import { AttemptJournal } from '#shared/execution/journal/attempt-journal.ts';
import type { FileStore } from '#shared/files/file-store.ts';
import { openFiles } from '#shared/files/open-files.ts';
import { Seal } from '#shared/tenants/sealing/seal.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { useFolder } from '../../../support/use-folder.ts';
import { type Held, retry, type TestLedger } from '../../ledger/support/test-ledger.ts';
import { useLedger } from '../../ledger/support/use-ledger.ts';

/** An attempt of a run, with its journal. */
export interface Run {
  journal: AttemptJournal;
  output: AttemptOutput;
  held: Held;
  attempt: RunningAttempt;
}

export interface Runs {
  test: TestLedger;
  files: FileStore;
  /** Where the bytes of its files are. */
  folder: string;
  /** `seal`: of its process; by default it seals nothing. */
  firstRun: (seal?: Seal) => Promise<Run>;
  /** The run of the same attempt in another process. */
  sameRun: (run: Run) => Promise<Run>;
  /** The run of the next attempt. `fails`: the one before has failed; by default it has. */
  nextRun: (run: Run, seal?: Seal, fails?: boolean) => Promise<Run>;
}

const ignore = (): void => undefined;

/** Runs on a ledger of their own, which is emptied before each test. */
export async function useRuns(settings: SettingsInput): Promise<Runs> {
  const test = await useLedger(settings);
  const folder = await useFolder();
  const config = await loadConfig({ LOG_LEVEL: 'silent', MUSTER_DATA_DIR: folder }, '/');
  const { redis, keys } = test;
  const files = openFiles({ redis, keys, config: { ...config, settings: test.ledger.settings } });
  beforeEach(() => test.reset());

  async function open(held: Held, seal = new Seal(), isContinued = false): Promise<Run> {
    const ledger = { ...test.ledger, seal };
    const { tenant, id, token, state } = held;
    const ref = { tenant, id, token, lane: null };
    const clock = { monotonic: () => performance.now() };
    const claimedAt = { redis: Date.now(), monotonic: performance.now() };
    const attempt = new RunningAttempt({ ref, stored: '', first: state, takesInput: true, claimedAt, heldUntil: Infinity, clock });
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const output = new AttemptOutput({ ledger, log, attempt, number: state.attempt });
    const about = { agent: 'echo', isSuspect: false, isContinued, asking: state.asking?.entry };
    const journal = new AttemptJournal({ ledger, files, attempt, output, number: state.attempt, ...about });
    await journal.open();
    return { journal, output, held, attempt };
  }

  return {
    test,
    files,
    folder,
    firstRun: async (seal) => await open(await test.claimed(await test.accepted()), seal),
    sameRun: async ({ held }) => await open({ ...held, state: await test.state(held.id) }, undefined, true),
    nextRun: async ({ held }, seal, fails = true) => {
      if (fails) await test.settle(held, retry(0));
      return await open(await test.claimed(held.id), seal);
    },
  };
}
