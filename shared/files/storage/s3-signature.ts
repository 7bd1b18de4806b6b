import { createHash, createHmac } from 'node:crypto';

export interface S3Credentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

export interface S3Request {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case, with `host`, `x-amz-date` and `x-amz-content-sha256`. All are signed. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The `Authorization` of a request to S3, signature version 4:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export function signS3Request({ method, url, headers }: S3Request, { accessKey, secretKey, region }: S3Credentials): string {
  const date = headers['x-amz-date'] ?? '';
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`;
  const names = Object.keys(headers).toSorted();
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url.searchParams),
    ...names.map((name) => `${name}:${(headers[name] ?? '').trim()}`),
    '',
    names.join(';'),
    headers['x-amz-content-sha256'] ?? '',
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = scope.split('/').reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${secretKey}`);
  return `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names.join(';')},Signature=${hmac(key, text).toString('hex')}`;
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.toSorted().join('&');
}

/** As S3 writes it: everything but letters, digits and `-._~` is escaped. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.codePointAt(0)?.toString(16).toUpperCase() ?? ''}`);
}
