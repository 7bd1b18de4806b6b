import { relative } from 'node:path';
import type { TestCase, TestModule } from 'vitest/node';

/** More tests than this that pass only when they are tried again fail the run. */
export const MAX_FLAKY = 3;

type Module = Pick<TestModule, 'children'>;

/** The tests that failed first and passed when they were tried again. */
export function flakyTests(modules: readonly Module[]): TestCase[] {
  return modules.flatMap((module) => [...module.children.allTests()]).filter((test) => test.diagnostic()?.flaky === true);
}

/** Names each flaky test; null when there is none. */
export function flakyReport(modules: readonly Module[], root: string): string | null {
  const flaky = flakyTests(modules);
  if (flaky.length === 0) return null;
  const verdict = flaky.length > MAX_FLAKY ? `: more than ${MAX_FLAKY} fail the run` : '';
  const names = flaky.map((test) => `  ${relative(root, test.module.moduleId)} > ${test.fullName}`);
  return [`${flaky.length} flaky, passed only on the second try${verdict}`, ...names].join('\n');
}
