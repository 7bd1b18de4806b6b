import { describe, expect, it } from 'vitest';
import { childTraceparent, traceIdOf } from '#shared/tasks/trace.ts';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';

describe('the trace context of a task', () => {
  it('stays in the trace of the caller, with its flags and a span of its own', () => {
    const child = childTraceparent(PARENT);
    expect(traceIdOf(child)).toBe(traceIdOf(PARENT));
    expect(child).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(child).not.toBe(PARENT);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    PARENT.toUpperCase(),
    `${PARENT}\n`,
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
  ])('is a new sampled trace when the caller sent %s', (parent) => {
    const child = childTraceparent(parent);
    expect(child).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(traceIdOf(child)).not.toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(traceIdOf(child)).not.toBe('0'.repeat(32));
  });

  it('is a new one each time', () => {
    expect(traceIdOf(childTraceparent())).not.toBe(traceIdOf(childTraceparent()));
  });

  it('has no id when it is none', () => {
    expect(traceIdOf('nonsense')).toBe('');
  });
});
