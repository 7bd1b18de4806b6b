import { writeSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { testEnvironment } from '../test-environment.ts';
import { flakyReport, flakyTests, MAX_FLAKY } from './flaky-tests.ts';
import { type EarlierStages, StageTimes } from './stage-times.ts';

/**
 * Ends a run with the plain line `N passed, N failed`, or `N passed, N failed, N skipped`, for hosts that read a log by its last line.
 * What fails outside a test (a file that cannot be loaded, a hook, an unhandled rejection) counts as one failure each.
 * Before the line it names the flaky tests, and in a check how long each stage took. Too many flaky tests fail the run and count as one failure.
 */
export class ClosingLineReporter implements Reporter {
  readonly #times = openStageTimes(testEnvironment.earlierStages);
  #lines: string | undefined;

  onInit(): void {
    // The default reporter, and whatever a process still prints while it ends, come first this way.
    process.once('exit', () => {
      if (this.#lines !== undefined) writeSync(1, `${this.#lines}\n`);
    });
  }

  onTestModuleStart({ project }: TestModule): void {
    this.#times?.enter(project.name, Date.now());
  }

  onTestRunEnd(modules: readonly Pick<TestModule, 'children' | 'errors'>[], unhandledErrors: readonly unknown[]): void {
    const isTooFlaky = flakyTests(modules).length > MAX_FLAKY;
    if (isTooFlaky) process.exitCode = 1;
    const line = closingLine(modules, unhandledErrors.length + (isTooFlaky ? 1 : 0));
    const stages = this.#times?.line(Date.now()) ?? null;
    this.#lines = [flakyReport(modules, process.cwd()), stages, line].filter((part) => part !== null).join('\n');
  }
}

/** The closing line of a run; exported for its test. */
export function closingLine(modules: readonly Pick<TestModule, 'children' | 'errors'>[], failuresOutside: number): string {
  const count = { passed: 0, failed: failuresOutside, skipped: 0, pending: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) count[stateOf(test)] += 1;
    count.failed += module.errors().length;
    for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
  }
  // A test that never got to its end did not pass.
  const failed = count.failed + count.pending;
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  return `${count.passed} passed, ${failed} failed${skipped}`;
}

function stateOf(test: TestCase): 'passed' | 'failed' | 'skipped' | 'pending' {
  return test.result().state;
}

function openStageTimes(earlier: string | undefined): StageTimes | undefined {
  return earlier === undefined ? undefined : new StageTimes(JSON.parse(earlier) as EarlierStages);
}
