import { describe, expect, it } from 'vitest';
import { fieldsIn, isFitting, lineFor, lineOf, linesBy } from '#shared/waits/events/event-line.ts';

describe('the line of a wait', () => {
  it('is that of the name where any event will do', () => {
    expect(lineOf('order.paid', {})).toBe('order.paid');
    expect(lineOf('a?b=1/ä', {})).toBe('a%3Fb%3D1%2F%C3%A4');
  });

  it('has the fields and their values, whatever their order', () => {
    const line = lineOf('paid', { kind: 'full', order: { id: 7, at: [1, null] } });
    expect(line).toBe('paid?kind&order=["full",{"at":[1,null],"id":7}]');
    expect(lineOf('paid', { order: { at: [1, null], id: 7 }, kind: 'full' })).toBe(line);
    expect(line.startsWith(linesBy('paid', fieldsIn(line)))).toBe(true);
  });

  it('has a digest of long values', () => {
    const line = lineOf('paid', { text: 'x'.repeat(1000) });
    expect(line).toMatch(/^paid\?text=#[\w-]{43}$/);
    expect(lineFor({ name: 'paid', data: { text: 'x'.repeat(1000) } }, 'text')).toBe(line);
    expect(lineFor({ name: 'paid', data: { text: 'x'.repeat(999) } }, 'text')).not.toBe(line);
  });
});

describe('an event', () => {
  it.each([
    [{}, null],
    [{ n: 1 }, { n: 1, more: true }],
    [{ 'a b': { x: [1, 2] } }, { 'a b': { x: [1, 2] } }],
    [{ n: null }, { n: null }],
  ])('fits a run that waits by %j when its data is %j', (match, data) => {
    expect(isFitting({ name: 'paid', data }, 'paid', match)).toBe(true);
  });

  it.each([
    [{ n: 1 }, { n: '1' }],
    [{ n: 1 }, {}],
    [{ n: null }, {}],
    [{ n: 1 }, [1]],
    [{ n: 1 }, null],
    [{ toString: 1 }, {}],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ list: [1, 2] }, { list: [2, 1] }],
  ])('does not fit one that waits by %j when its data is %j', (match, data) => {
    expect(isFitting({ name: 'paid', data }, 'paid', match)).toBe(false);
  });

  it('does not fit another name', () => {
    expect(isFitting({ name: 'paid', data: null }, 'paid.later', {})).toBe(false);
  });
});
