import { extname } from 'node:path';
import express, { type RequestHandler } from 'express';

/** The forms that the build writes of each text, the smallest first. */
const FORMS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** Each name holds a digest of its file, so that browsers may keep it for good. */
const KEPT = { index: false, redirect: false, immutable: true, maxAge: '365d' } as const;

/**
 * Serves the files of a folder in the smallest form that the caller takes and the build has made, else as they are.
 *
 * Our own lines rather than a library's: `sirv` and `express-static-gzip` learn when they are made what the folder holds, and would
 * not find the files of a console that is built anew while this runs.
 */
export function compressedFiles(directory: string): RequestHandler[] {
  return [
    (_request, response, next) => {
      response.vary('Accept-Encoding');
      next();
    },
    ...FORMS.map((form) => filesOfForm(directory, form)),
    express.static(directory, KEPT),
  ];
}

function filesOfForm(directory: string, { encoding, suffix }: (typeof FORMS)[number]): RequestHandler {
  const files = express.static(directory, {
    ...KEPT,
    setHeaders: (response, path) => {
      response.type(extname(path.slice(0, -suffix.length)));
      response.set('Content-Encoding', encoding);
    },
  });
  return (request, response, next) => {
    if (request.acceptsEncodings(encoding) === false) {
      next();
      return;
    }
    const { url } = request;
    request.url = `${request.path}${suffix}`;
    files(request, response, (error?: unknown) => {
      request.url = url;
      next(error);
    });
  };
}
