import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanFileName, cleanMediaType, contentDisposition, uniqueNames } from '#shared/files/file-name.ts';

describe('the name of a file', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..', 'file'],
    ['', 'file'],
    ['/', 'file'],
    ['C:\\Users\\me\\a.txt', 'a.txt'],
    ['.bashrc', 'bashrc'],
    ['a\r\nSet-Cookie: x=1', 'aSet-Cookie_ x=1'],
    ['x"; filename=evil.exe', 'x_; filename=evil.exe'],
    ['\u202Egpj.exe', 'gpj.exe'],
    ['a\0b.txt', 'ab.txt'],
    ['con.txt', '_con.txt'],
    ['nul', '_nul'],
    ['name. . ', 'name'],
    ['half \uD83D.png', 'half .png'],
    ['Größe 図.png', 'Größe 図.png'],
  ])('%j is kept as %j', (given, kept) => {
    expect(cleanFileName(given)).toBe(kept);
  });

  it('is safe whatever it was, and stays as it is when it is cleaned again', () => {
    const name = string({ unit: 'binary', maxLength: 250 });
    assert(
      property(name, (given) => {
        const clean = cleanFileName(given);
        expect(clean).toMatch(/^[^./\\\p{Cc}\p{Cf}<>:"|?*][^/\\\p{Cc}\p{Cf}<>:"|?*]*$/u);
        expect(Buffer.byteLength(clean)).toBeLessThanOrEqual(200);
        expect(cleanFileName(clean)).toBe(clean);
        expect(contentDisposition(clean)).toMatch(/^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''[\w%.!#$&+^`|~-]+$/);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps its extension when it is too long', () => {
    expect(cleanFileName(`${'ä'.repeat(300)}.tar`)).toMatch(/^ä+\.tar$/);
  });

  it('gets a number when another has it already', () => {
    expect(uniqueNames(['a.txt', 'A.txt', 'a.txt', 'b'])).toEqual(['a.txt', 'A-2.txt', 'a-3.txt', 'b']);
  });
});

describe('a media type', () => {
  it.each([
    ['Image/PNG; charset=x', 'image/png'],
    ['text/html', 'text/html'],
    ['nonsense', 'application/octet-stream'],
    ['a/b\r\nX: y', 'application/octet-stream'],
    [undefined, 'application/octet-stream'],
  ])('%j is kept as %j', (given, kept) => {
    expect(cleanMediaType(given)).toBe(kept);
  });
});
