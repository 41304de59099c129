import { describe, expect, it } from 'vitest';
import { excerpt, redact } from '../../src/model/index.ts';

describe('excerpt', () => {
  it('shows what cannot be seen', () => {
    expect(excerpt('a\nb\u202Ec\u200Bd\u0007')).toBe('a\\u{a}b\\u{202e}c\\u{200b}d\\u{7}');
  });

  it('cuts between scalars and says so', () => {
    expect(excerpt('🐝🐝🐝🐝', 3)).toBe('🐝🐝🐝…');
    expect(excerpt('🐝🐝🐝', 3)).toBe('🐝🐝🐝');
    expect(excerpt('\uD83D')).toBe('\uFFFD');
  });
});

describe('redact', () => {
  it.each(['nsec1qqqqqqqqqqqqqqqqqqqqq', 'Bearer abc.def', 'sk-abcdefgh12345', 'ghp_0123456789abcdef'])('hides %s', (secret) => {
    expect(redact(`x ${secret} y`)).toBe('x <redacted> y');
  });

  it('leaves ordinary words', () => {
    expect(redact('a task-force bears no secret; npub1qqq')).toBe('a task-force bears no secret; npub1qqq');
  });
});
