import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { TestCase, TestModule } from 'vitest/node';

/** More tests than this that pass only when they are tried again fail the run. */
export const MAX_FLAKY = 3;

type Module = Pick<TestModule, 'children'>;

/** The tests that failed first and passed when they were tried again. */
export function flakyTests(modules: readonly Module[]): TestCase[] {
  return modules.flatMap((module) => [...module.children.allTests()]).filter((test) => test.diagnostic()?.flaky === true);
}

const MAX_TEXT = 800;

/** Names each flaky test with what it failed of first; null when there is none. */
export function flakyReport(modules: readonly Module[], root: string): string | null {
  const flaky = flakyTests(modules);
  if (flaky.length === 0) return null;
  const verdict = flaky.length > MAX_FLAKY ? `: more than ${MAX_FLAKY} fail the run` : '';
  const names = flaky.map((test) => `  ${relative(root, test.module.moduleId)} > ${test.fullName}${firstError(test)}`);
  return [`${flaky.length} flaky, passed only on the second try${verdict}`, ...names].join('\n');
}

function firstError(test: TestCase): string {
  const [first] = test.result().errors ?? [];
  if (first === undefined) return '';
  const text = [first.message, ...(first.diff === undefined ? [] : [stripVTControlCharacters(first.diff)])].join('\n');
  return `\n    ${text.slice(0, MAX_TEXT).replaceAll('\n', '\n    ')}`;
}
