import { defineConfig } from 'vitest/config';
import { ChaosReporter } from './test/support/reporters/chaos-reporter.ts';
import { ClosingLineReporter } from './test/support/reporters/closing-line-reporter.ts';
import { SlowFilesReporter } from './test/support/reporters/slow-files-reporter.ts';
import { SlowFilesFirst } from './test/support/runner/slow-files-first.ts';
import { shareCompiledCode, testEnvironment } from './test/support/test-environment.ts';

/** `npm run chaos` runs the scenarios alone and at full size. */
const { isChaos, isCi } = testEnvironment;

shareCompiledCode();

export default defineConfig({
  test: {
    // Forks, because tests send signals and start children, which threads of one process would share.
    pool: 'forks',
    // One more than the cores that this is tuned for: a test waits half of its time, for processes, leases and pages.
    maxWorkers: 3,
    // Most of what tests make is dead soon after: a larger nursery takes 7 % less processor time.
    execArgv: ['--max-semi-space-size=64'],
    globalSetup: ['test/support/runner/compile-cache.ts'],
    setupFiles: ['test/support/runner/leaked-handles.ts'],
    sequence: { sequencer: SlowFilesFirst },
    // In CI a single run on a loaded machine decides whether a change lands, so a test that fails is tried once more. The closing
    // line's reporter names those that pass then, and fails the run when they are more than three.
    retry: isCi ? 1 : 0,
    // A loaded machine is late; Vitest's own timeout is a second.
    expect: { poll: { timeout: 10_000 } },
    reporters: ['default', new SlowFilesReporter(), ...(isChaos ? [new ChaosReporter()] : []), new ClosingLineReporter()],
    coverage: {
      provider: 'v8',
      include: ['services/**/*.ts', 'shared/**/*.ts'],
      // The console runs in browsers only.
      exclude: ['services/dashboard/console/**', 'services/dashboard/dist/**'],
      reporter: ['text-summary'],
      // Measured at 94, 92, 92 and 86 %.
      thresholds: { lines: 90, statements: 88, functions: 88, branches: 80 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/scenarios/**', 'test/bench/**'],
          // Each file of parts leaves nothing behind, and a process that loads the sources once saves half of the time of imports.
          isolate: false,
          testTimeout: 40_000,
          hookTimeout: 40_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'scenarios',
          include: ['test/scenarios/**/*.test.ts'],
          testTimeout: isChaos ? 1_800_000 : 240_000,
          hookTimeout: 120_000,
          // After the parts: each starts a fleet of its own, which mostly waits. At full size one at a time has the machine.
          maxWorkers: isChaos ? 1 : 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
