import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { DiskStorage } from '#shared/files/storage/disk-storage.ts';
import type { FileStorage } from '#shared/files/storage/file-storage.ts';
import { signS3Request } from '#shared/files/storage/s3-signature.ts';
import { S3Storage } from '#shared/files/storage/s3-storage.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { S3_ACCESS, startFakeS3 } from './fake-s3.ts';

const folder = await mkdtemp(join(tmpdir(), 'muster-storage-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const s3 = closeAfterTests(await startFakeS3());
const bucket = { ...S3_ACCESS, endpoint: s3.url, bucket: 'files', prefix: 'muster/', timeoutMs: 5000 };

const STORAGES: [string, FileStorage][] = [
  ['a folder', new DiskStorage(join(folder, 'stored'))],
  ['a bucket', new S3Storage(bucket)],
];

const id = (digit: number): string => String(digit).repeat(32);

async function write(storage: FileStorage, tenant: string, file: string, data: Buffer): Promise<void> {
  const path = join(folder, 'spooled');
  await writeFile(path, data);
  await storage.write({ tenant, file }, { path, bytes: data.length });
}

describe.each(STORAGES)('%s', (_name, storage) => {
  const read = async (tenant: string, file: string): Promise<Buffer | null> => {
    const stream = await storage.read({ tenant, file });
    return stream && (await buffer(stream));
  };

  it('gives back the bytes that were stored, none and many', async () => {
    const large = Buffer.alloc(3_000_000, 'abc');
    await write(storage, 'acme', id(1), Buffer.alloc(0));
    await write(storage, 'acme', id(2), large);
    expect(await read('acme', id(1))).toEqual(Buffer.alloc(0));
    expect((await read('acme', id(2)))?.equals(large)).toBe(true);
  });

  it('has nothing under another id or of another tenant', async () => {
    await write(storage, 'acme', id(3), Buffer.from('x'));
    expect(await read('acme', id(4))).toBeNull();
    expect(await read('acme~2', id(3))).toBeNull();
  });

  it('removes a file, also one that is gone already', async () => {
    await write(storage, 'acme', id(5), Buffer.from('x'));
    await storage.remove({ tenant: 'acme', file: id(5) });
    await storage.remove({ tenant: 'acme', file: id(5) });
    expect(await read('acme', id(5))).toBeNull();
  });

  it('removes all of a tenant and nothing of one with a similar name', async () => {
    for (const digit of [1, 2, 3, 4, 5]) await write(storage, 'gone', id(digit), Buffer.from('x'));
    await write(storage, 'gone2', id(1), Buffer.from('kept'));
    await storage.removeTenant('gone');
    expect(await Promise.all([1, 2, 3, 4, 5].map((digit) => read('gone', id(digit))))).toEqual([null, null, null, null, null]);
    expect(await read('gone2', id(1))).toEqual(Buffer.from('kept'));
  });
});

describe('a storage that does not answer', () => {
  it('is unavailable when its bucket refuses', async () => {
    const storage = new S3Storage(bucket);
    s3.failNext(503, 'SlowDown');
    await expect(storage.read({ tenant: 'acme', file: id(1) })).rejects.toMatchObject({
      code: 'unavailable.files',
      message: /503 \(SlowDown\)/,
    });
    const wrong = new S3Storage({ ...bucket, secretKey: 'wrong' });
    await expect(wrong.read({ tenant: 'acme', file: id(1) })).rejects.toMatchObject({ message: /403 \(SignatureDoesNotMatch\)/ });
  });

  it('is unavailable when its server is away', async () => {
    const storage = new S3Storage({ ...bucket, endpoint: 'http://127.0.0.1:1' });
    await expect(storage.remove({ tenant: 'acme', file: id(1) })).rejects.toMatchObject({ code: 'unavailable.files' });
  });

  it('is unavailable when its folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const storage = new DiskStorage(join(folder, 'file'));
    await expect(write(storage, 'acme', id(1), Buffer.from('x'))).rejects.toMatchObject({ code: 'unavailable.files' });
  });
});

it('signs a request as in the examples of the documentation', () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "GET Bucket (List Objects)"
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const authorization = signS3Request(
    {
      method: 'GET',
      url: new URL('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J'),
      headers: { host: 'examplebucket.s3.amazonaws.com', 'x-amz-content-sha256': empty, 'x-amz-date': '20130524T000000Z' },
    },
    { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', region: 'us-east-1' },
  );
  expect(authorization).toMatch(/Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/);
});
