// The program of a wall, around all objects of a library: nnc_add_library().
int main() { return 0; }
