import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#shared/tasks/task-request.ts';

describe('canonical JSON', () => {
  it('is the same however the members of an object are ordered, at any depth', () => {
    expect(canonicalJson({ b: [{ d: 1, c: null }], a: 'x' })).toBe(canonicalJson({ a: 'x', b: [{ c: null, d: 1 }] }));
  });

  it('keeps the order of lists, and distinguishes null from absent', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: undefined })).toBe(canonicalJson({}));
    expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
  });

  it('reads as what it was made of', () => {
    const value = JSON.parse('{"z":{"__proto__":1,"2":[],"10":"ü"},"a":[true,null,-0.5]}') as unknown;
    expect(JSON.parse(canonicalJson(value))).toEqual(value);
  });
});
