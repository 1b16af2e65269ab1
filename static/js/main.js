// Behaviours, one file each; a page without them still works.
import "./socket.js";
import "./composer.js";
import "./reading.js";
import "./page.js";
