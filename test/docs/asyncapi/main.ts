// What the parser of AsyncAPI says of a document on stdin that is more than a hint, in lines. A process of its own:
// with the export conditions of the specs a package that the parser needs cannot be loaded.
import { text } from 'node:stream/consumers';
import { Parser } from '@asyncapi/parser';

const worstHint = 1;

for (const { code, message, path, severity } of await new Parser().validate(await text(process.stdin)))
  if (severity <= worstHint) process.stdout.write(`${code} /${path.join('/')}: ${message}\n`);
