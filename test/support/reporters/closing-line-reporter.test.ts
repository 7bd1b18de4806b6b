import type { TestCase, TestModule, TestSuite } from 'vitest/node';
import { describe, expect, it } from 'vitest';
import { closingLine } from './closing-line-reporter.ts';

type Module = Pick<TestModule, 'children' | 'errors'>;
type State = ReturnType<TestCase['result']>['state'];

const listOf = (length: number): object[] => Array.from({ length }, () => ({ message: 'broken' }));

/** What the reporter reads of a module: its tests' states, and how many errors it and its one suite have of their own. */
function module(states: State[], errors = 0, suiteErrors = 0): Module {
  const tests = states.map((state) => ({ result: () => ({ state }) }) as TestCase);
  const suites = [{ errors: () => listOf(suiteErrors) } as unknown as TestSuite];
  return { errors: () => listOf(errors), children: { allTests: () => tests, allSuites: () => suites } } as unknown as Module;
}

describe('the closing line', () => {
  it.each<[string, Module[], number, string]>([
    ['adds up the tests of all files', [module(['passed', 'failed']), module(['passed'])], 0, '2 passed, 1 failed'],
    ['names skipped tests when there are any', [module(['passed', 'skipped'])], 0, '1 passed, 0 failed, 1 skipped'],
    ['counts a file that cannot be loaded as a failure', [module([], 1)], 0, '0 passed, 1 failed'],
    ['counts a hook that fails as a failure', [module(['passed'], 0, 1)], 0, '1 passed, 1 failed'],
    ['counts an error outside all tests as a failure', [module(['passed'])], 2, '1 passed, 2 failed'],
    ['counts a test that was cut off as a failure', [module(['passed', 'pending'])], 0, '1 passed, 1 failed'],
    ['says that nothing ran when nothing did', [], 0, '0 passed, 0 failed'],
  ])('%s', (_name, modules, unhandled, line) => {
    expect(closingLine(modules, unhandled)).toBe(line);
  });
});
