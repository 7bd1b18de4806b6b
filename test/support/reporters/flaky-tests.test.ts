import type { TestCase, TestModule } from 'vitest/node';
import { describe, expect, it } from 'vitest';
import { flakyReport } from './flaky-tests.ts';

function module(...tests: { name: string; flaky: boolean; error?: string }[]): TestModule {
  const file = { moduleId: '/repo/test/a.test.ts' };
  const cases = tests.map(({ name, flaky, error }) => {
    const errors = error === undefined ? [] : [{ message: error }];
    return { fullName: name, module: file, diagnostic: () => ({ flaky }), result: () => ({ errors }) } as unknown as TestCase;
  });
  return { ...file, children: { allTests: () => cases } } as unknown as TestModule;
}

describe('the report of flaky tests', () => {
  it('is empty when each test passed on its first try', () => {
    expect(flakyReport([module({ name: 'a > b', flaky: false })], '/repo')).toBeNull();
  });

  it('names each test that passed only on its second try, and what it failed of', () => {
    const report = flakyReport([module({ name: 'a > b', flaky: true, error: 'one\ntwo' }, { name: 'a > c', flaky: false })], '/repo');
    expect(report).toBe('1 flaky, passed only on the second try\n  test/a.test.ts > a > b\n    one\n    two');
  });

  it('says that the run fails when more than three tests are flaky', () => {
    const tests = ['a', 'b', 'c', 'd'].map((name) => ({ name, flaky: true }));
    expect(flakyReport([module(...tests.slice(1))], '/repo')).not.toContain('fail the run');
    expect(flakyReport([module(...tests)], '/repo')).toContain('4 flaky, passed only on the second try: more than 3 fail the run');
  });
});
