// The name and sign of the product.
import { Link } from 'wouter';

export const Brand = () => (
  <Link href="/" className="shell-brand">
    <svg width="28" height="28" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" fill="#2a6f97" />
      <path d="M6 4l6 4-6 4z" fill="#fff" />
    </svg>
    Mediary
  </Link>
);
