import { frame, serve, write } from './speaks-acp.mjs';

write('\ufeff');
serve({ answer: (id, result) => write(frame({ id, result }).replace('\n', '\r\n')) });
