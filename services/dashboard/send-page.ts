import type { Response } from 'express';
import { page, type PageOptions } from './page.ts';

export function sendPage(response: Response, options: PageOptions, status = 200): void {
  response.status(status).type('html').send(page(options));
}
