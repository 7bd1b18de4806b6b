import type { Response } from 'express';
import { page, type PageOptions } from './page.ts';
import { chosenScheme } from './scheme-cookie.ts';

export function sendPage(response: Response, options: Omit<PageOptions, 'scheme'>, status = 200): void {
  const scheme = chosenScheme(response.req.get('cookie'));
  response
    .status(status)
    .type('html')
    .send(page({ ...options, scheme }));
}
